'use client';

/** Shows an error page if the root layout fails. Without the layout, it cannot use Mantine's theme. */
export default function GlobalError({ error, reset }: { error: Error & { digest?: string }; reset(): void }) {
  return (
    <html lang="en">
      <body style={{ fontFamily: 'system-ui, sans-serif', textAlign: 'center', padding: '20vh 1rem' }}>
        <title>Something went wrong</title>
        <h1>Something went wrong</h1>
        <p>The page could not be shown.{error.digest ? ` Reference: ${error.digest}` : ''}</p>
        <button type="button" onClick={reset}>
          Try again
        </button>
      </body>
    </html>
  );
}
