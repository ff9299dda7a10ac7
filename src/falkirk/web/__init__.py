"""The dashboard: a flow as a picture, served by the application itself."""
