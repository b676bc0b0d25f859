import { type SQL, type SQLWrapper, sql } from 'drizzle-orm';

/**
 * Whether a column is one of many texts, which go as one parameter: a thousand take longer to build and to read than
 * their rows to find.
 *
 * @param form what is made of each text, `sql`lower(${text})``; without it the text itself is meant
 */
export function inTexts(column: SQLWrapper, texts: string[], form = (text: SQL) => text): SQL {
  return sql`${column} = any(array(select ${form(sql`wanted.text`)} from ${textRows(texts)} as wanted (text)))`;
}

/**
 * The same of a column that has a trigram index too, which PostgreSQL holds for cheaper than it is where it may look
 * for all texts at once: so they are joined. Not for part of an `or`.
 */
export function inJoinedTexts(column: SQLWrapper, texts: string[]): SQL {
  return sql`${column} in (select wanted.text from ${textRows(texts)} as wanted (text))`;
}

/** Texts as rows; without those that no column can hold. */
function textRows(texts: string[]): SQL {
  const storable = texts.filter((text) => !text.includes('\0')).map((text) => text.toWellFormed());
  return sql`jsonb_array_elements_text(${JSON.stringify(storable)}::jsonb)`;
}
