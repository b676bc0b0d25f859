DROP FUNCTION IF EXISTS with_new_ids(text, integer[], text[]);
-- Functions: d94ea81466f5c0495bbe218c807b8f85fc5663adbf529572d63aa647a9b651dc
