-- Not in the migrations, which run before there are functions.
CREATE INDEX IF NOT EXISTS customers_letter_pairs ON customers USING gin (letter_pairs(search_text));
