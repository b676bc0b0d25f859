/** How one client is connected to this server. */
export interface Connection {
  client: string;
  /** Where the snippet goes, as a sentence in Markdown. */
  how: string;
  language: 'sh' | 'json' | 'toml' | 'text';
  snippet: string;
  /** What of the snippet stands for an access token; without it none is needed. */
  placeholder?: string;
}

/** What the server is called where it is entered. */
export const NAME = 'w5t';
export const BEARER = 'Authorization: Bearer $ACCESS_TOKEN';

export function json(value: unknown): string {
  return JSON.stringify(value, null, 2);
}
