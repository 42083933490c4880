"""What the documentation is made with: pages from the code, and the site from the pages."""
