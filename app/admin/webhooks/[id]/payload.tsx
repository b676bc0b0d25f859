import { Text } from '@mantine/core';
import classes from './payload.module.css';

/** A page with more of it would be slow to open; Stripe's events are a tenth of this. */
const MAX_SHOWN = 200_000;

/** The signed body of an event, for reading. */
export function Payload({ text }: { text: string }) {
  const pretty = prettyJson(text);
  const hidden = pretty.length - MAX_SHOWN;
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls takes the focus */}
      <section className={classes.region} tabIndex={0} aria-label="Payload">
        <pre className={classes.text}>{pretty.slice(0, MAX_SHOWN)}</pre>
      </section>
      {hidden > 0 && (
        <Text size="sm" c="dimmed" p="md">
          {`The last ${hidden} characters are not shown.`}
        </Text>
      )}
    </>
  );
}

/** As it was signed where it cannot be parsed, or is nested too deeply to be written again. */
function prettyJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
