DROP FUNCTION IF EXISTS with_new_ids(text, integer[], text[]);
-- Functions: 5ad33df40943457b25f97fe22663c2b85dcf5c6b7d197c74d4af625d22d01f20
