"""New code for the rules: from what the analysis found to the edits that write it."""
