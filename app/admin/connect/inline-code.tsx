import { Code } from '@mantine/core';

/** A sentence of Markdown whose only marks are backticks. */
export function InlineCode({ text }: { text: string }) {
  return text.split('`').map((part, i) =>
    i % 2 === 0 ? (
      part
    ) : (
      <Code key={part} className="break-anywhere">
        {part}
      </Code>
    ),
  );
}
