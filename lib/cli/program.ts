import { HelpAsked, sentencesOf } from '../commands/command';

/**
 * Runs a program and ends the process: a database that is still open would keep it alive.
 * An error is one sentence a line on stderr and exit code 1. A program that fails without an error
 * sets `process.exitCode`.
 */
export function runProgram(main: (args: string[]) => Promise<void>): void {
  main(process.argv.slice(2))
    .catch((error: unknown) => {
      if (error instanceof HelpAsked) return console.log(error.usage.join('\n'));
      process.exitCode = 1;
      for (const sentence of sentencesOf(error)) console.error(sentence);
    })
    .finally(() => {
      // Output to a pipe may still be on its way, and exit drops it.
      process.stdout.write('', () => process.stderr.write('', () => process.exit()));
    });
}
