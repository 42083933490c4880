"""The maths of use (rule 4): what an answer says of the memories that it was given, and what that comes to."""
