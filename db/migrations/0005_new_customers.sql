-- Its collation has changed: db/functions makes it anew.
DROP INDEX IF EXISTS "customers_letter_pairs";
-- Functions: 70e6275d6b82d157049af8ec9e742ca10d0d5e710ebe367ce75f10953349df73
