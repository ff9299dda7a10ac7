"""What policies cost and keep: alone, by the epoch, and in a matrix of what they depend on."""
