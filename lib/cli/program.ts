import { HelpRequested, sentencesOf } from '../commands/command';

/**
 * Runs a program, then ends the process explicitly, because an open database would keep it alive. An error prints one
 * sentence per line on stderr, with exit code 1. A program that fails without an error sets `process.exitCode`.
 */
export function runProgram(main: (args: string[]) => Promise<void>): void {
  main(process.argv.slice(2))
    .catch((error: unknown) => {
      if (error instanceof HelpRequested) return console.log(error.usage.join('\n'));
      process.exitCode = 1;
      for (const sentence of sentencesOf(error)) console.error(sentence);
    })
    .finally(() => {
      // Flush the output first, because `exit` drops output that is still on its way to a pipe.
      process.stdout.write('', () => process.stderr.write('', () => process.exit()));
    });
}
