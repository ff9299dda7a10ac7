"""A campaign of kills on a store whose batches are elsewhere."""

from tests.faults.driver_child import STORE
from tests.faults.driver_judge import EXPECTED, canonical, expected_epochs, table
from tests.faults.killing import Campaign


class FarCampaign(Campaign):
    """One driver after the other on the store at an address."""

    store: str

    def environment(self) -> dict[str, str]:
        """The child finds the store."""
        return {**super().environment(), STORE: self.store}

    def judge(self) -> list[str]:
        """What is wrong with what the outside saw: every epoch once, as without a failure."""
        shown = table(self.folder, "rows")
        return [
            f"{sink}: epoch {epoch} is {shown[sink][epoch]} and should be {wanted}"
            for sink in ("lazy-out", "eager-out")
            for epoch in range(expected_epochs(sink))
            if shown[sink][epoch] != [wanted := canonical(EXPECTED[sink](epoch))]
        ]
