-- Not in the migrations, which run before there are functions. By bytes: a row has some two hundred of them, which
-- another collation sorts twice as slowly.
CREATE INDEX IF NOT EXISTS customers_letter_pairs ON customers USING gin (letter_pairs(search_text) COLLATE "C");
