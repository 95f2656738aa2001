"""The games: rules, records, text, pictures, environments."""
