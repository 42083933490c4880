"""What may enter the memory. Pure functions of the notes and of what is known already."""
