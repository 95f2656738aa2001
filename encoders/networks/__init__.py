"""Arrays → values and policies, with torch: the networks of the papers and our own."""
