"""How good the memory is (rule 6): what the journal and the tables know, joined with the rules."""
