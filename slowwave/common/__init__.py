"""What every room needs and none owns: ids, arguments, errors on their way to a person, progress."""
