import type { ReadResourceResult, Resource } from '@modelcontextprotocol/server';
import { VIEW_SCRIPT } from './view-script';

/**
 * The app that shows the answers of two tools in hosts that support MCP Apps: a customer as a card, invoices as a
 * table. A single page draws both, so that a host reads only one resource. The page detects the kind of answer by its
 * fields. The URI is short, because tools/list repeats it.
 */
export const VIEW_URI = 'ui://w5t/view';

/** The media type that marks a page as an MCP App. */
const MIME_TYPE = 'text/html;profile=mcp-app';

/** Allows no URL. The page is self-contained, and must not send any part of an answer elsewhere. */
const CSP = { connectDomains: [], resourceDomains: [], frameDomains: [], baseUriDomains: [] };

const _meta = { ui: { csp: CSP, prefersBorder: true } };

/** The entry of the app in resources/list. */
export const VIEW: Resource = {
  uri: VIEW_URI,
  name: 'view',
  title: 'Customer and invoices',
  description: 'Shows the answer of get-customer-tool as a card and that of list-invoices-tool as a table.',
  mimeType: MIME_TYPE,
  _meta,
};

const STYLE = `
:root {
  color-scheme: light dark;
  --ground: var(--color-background-primary, light-dark(#fff, #1a1d23));
  --text: var(--color-text-primary, light-dark(#1a1f36, #e4e7ec));
  --quiet: var(--color-text-secondary, light-dark(#545c70, #a5adbb));
  --line: var(--color-border-primary, light-dark(#d9dde5, #3a404b));
  --danger: var(--color-text-danger, light-dark(#b3261e, #ff9d95));
  --ring: var(--color-ring-primary, light-dark(#2d5be3, #8fb0ff));
}
* { box-sizing: border-box; }
body { margin: 0; background-color: var(--ground); color: var(--text); }
body { font: 14px/1.45 var(--font-sans, system-ui, sans-serif); }
main { padding: 16px; overflow-wrap: anywhere; }
h1 { margin: 0; font-size: 18px; line-height: 1.3; font-weight: 600; }
h2 { display: inline; margin: 0; font-size: 14px; font-weight: 600; }
.under, .note, .empty { margin: 4px 0 0; color: var(--quiet); }
.alert { margin: 0; padding-left: 12px; border-left: 3px solid var(--danger); white-space: pre-wrap; }
.badge { padding: 0 8px; border: 1px solid currentColor; border-radius: 10px; color: var(--quiet); }
.badge { font-size: 12px; white-space: nowrap; }
.danger { color: var(--danger); }
dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(180px, 1fr)); gap: 12px 16px; margin: 16px 0 0; }
dt { color: var(--quiet); font-size: 12px; }
dd { margin: 0; }
dd span { display: block; }
details { margin-top: 16px; padding-top: 12px; border-top: 1px solid var(--line); }
summary { cursor: pointer; }
ul { margin: 8px 0 0; padding-left: 20px; }
pre { margin: 8px 0 0; white-space: pre-wrap; font-size: 12px; }
.scroll { margin-top: 8px; overflow-x: auto; }
:focus-visible { outline: 2px solid var(--ring); outline-offset: 2px; }
table { width: 100%; border-collapse: collapse; overflow-wrap: normal; }
caption { padding: 4px 0; color: var(--quiet); font-size: 12px; text-align: left; }
details caption { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
th, td { padding: 6px 20px 6px 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
th:last-child, td:last-child { padding-right: 0; }
tbody tr:last-child > * { border-bottom: 0; }
thead th { color: var(--quiet); font-size: 12px; font-weight: 500; vertical-align: bottom; }
tbody th { min-width: 110px; font-weight: 500; }
small { color: var(--quiet); font-weight: 400; }
.right { text-align: right; font-variant-numeric: tabular-nums; }
tbody .right, tbody .unbroken { white-space: nowrap; }
`;

/** Repeats the policy that `CSP` requests, so that the policy also applies in a host that ignores the request. */
const POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; base-uri 'none'";

const VIEW_HTML = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Customer and invoices</title>
<style>${STYLE}</style>
</head>
<body>
<main aria-busy="true"><p class="note" role="status">Waiting for the answer…</p></main>
<script type="module">${VIEW_SCRIPT}</script>
</body>
</html>
`;

/** The answer to resources/read. */
export const VIEW_CONTENTS: ReadResourceResult = {
  contents: [{ uri: VIEW_URI, mimeType: MIME_TYPE, text: VIEW_HTML, _meta }],
};
