-- How many decimals amounts of a currency have, as lib/money.ts has it.
CREATE OR REPLACE FUNCTION currency_decimals(currency text) RETURNS int LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE
    WHEN currency IN ('bif', 'clp', 'djf', 'gnf', 'isk', 'jpy', 'kmf', 'krw', 'mga', 'pyg', 'rwf', 'ugx', 'vnd', 'vuv',
      'xaf', 'xof', 'xpf') THEN 0
    WHEN currency IN ('bhd', 'iqd', 'jod', 'kwd', 'lyd', 'omr', 'tnd') THEN 3
    ELSE 2 END
$$;
