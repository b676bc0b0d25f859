-- The letters of a text, and each two that follow one another: for texts too short for trigrams. Cut into twos from the
-- first letter on, and from the second one on, which takes an eighth of the time of going through its letters.
CREATE OR REPLACE FUNCTION letter_pairs(searched text) RETURNS text[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT array_remove(
    string_to_array(regexp_replace(searched, '(..)', E'\\1\x01', 'g'), E'\x01')
      || string_to_array(regexp_replace(substr(searched, 2), '(..)', E'\\1\x01', 'g'), E'\x01')
      || string_to_array(searched, NULL),
    '')
$$;
