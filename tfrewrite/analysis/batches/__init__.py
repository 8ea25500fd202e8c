"""The batches that a session loop makes and feeds, and whether somebody else can make them."""
