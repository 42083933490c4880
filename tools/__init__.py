"""Documentation tools: reference pages from the code, and the site from the pages."""
