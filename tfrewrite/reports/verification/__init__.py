"""What is written about verifications: for people, programs, pull requests and browsers."""
