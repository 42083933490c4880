"""Pure maths: ranking, feedback, evaluation. Functions of data and `as_of`; no store, no clock."""
