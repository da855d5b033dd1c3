"""C++ in, facts out: parse a tree with libclang and tree-sitter, and link what was seen. Knows no rule."""
