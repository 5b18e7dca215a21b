//! Grains in bulk: stones, gradings and their placement.
