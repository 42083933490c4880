"""The maths of use (rule 4): what an answer says of the memories shown, and what that comes to."""
