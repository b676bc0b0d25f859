import ts from 'typescript';
import { lineOf, type Source, walk } from './sources';

/** Words that staff had to read twice, and what took their place. */
const OLD_WORDS: [old: RegExp, now: string][] = [
  [/needs? a person/i, 'needs attention'],
  [/events? of Stripe[’']s/, 'Stripe events'],
  [/names? no customer/, 'has no matching customer'],
  [/created for Stripe/i, 'created from Stripe'],
  [/\bof ours\b|\bone of ours\b|\bnone of ours\b/i, 'say what it is: a known customer, a matching payment'],
  [/\bmaster data\b/i, 'Details'],
  [/\bTo pay\b/, 'Balance due'],
  [/\bAll 1 \w/, 'All invoices (1)'],
  [/\bDrift\b/, 'Reconciliation changes'],
  [/\bGoes on\b/, 'Renews'],
  [/\bKnown by\b/, 'Matched by'],
  [/\bNone came\b/, 'No events yet'],
  [/\b[Oo]ther mode\b/, 'Wrong mode (test/live)'],
  [/\bLooked back to\b|\bThe beginning\b/, 'Since: all time'],
  [/Something unexpected|has the place/, 'Unexpected error; see the log'],
  [/one is made, which is better/, 'Leave empty to generate one'],
  [/can be ended alone/, 'revoke each separately'],
  [/\bManaged by\b/, 'Managed here'],
  [/\bWhole, or #ID\b/, 'Full number or #ID'],
  [/^At Stripe$/, 'Stripe'],
];

/** The old words in a text that people read, each with what to say instead. */
export function oldWords(text: string): string[] {
  return OLD_WORDS.flatMap(([old, now]) => {
    const found = old.exec(text)?.[0];
    return found === undefined ? [] : [`“${found}”: ${now}`];
  });
}

/** The same in a source's strings and texts. */
export function oldWordsIn({ path, tree }: Source): string[] {
  const found: string[] = [];
  walk(tree, (node) => {
    if (!ts.isStringLiteralLike(node) && !ts.isJsxText(node) && !ts.isTemplateLiteralToken(node)) return;
    const text = node.text.replace(/\s+/g, ' ').trim();
    found.push(...oldWords(text).map((words) => `${path}:${lineOf(tree, node)}: ${words}`));
  });
  return found;
}
