import { stripVTControlCharacters } from 'node:util';
import { type Logger, stackOf } from '../log';

const METHODS = ['debug', 'dir', 'error', 'info', 'log', 'trace', 'warn'] as const;
const SHOWN = 200;

/**
 * Redirects the console output of Next and other libraries to our log. Logs at most 200 characters of the first line of
 * each output, because an output contains parts of requests, whose line breaks could forge log lines. Omits error
 * messages, because they may contain personal data.
 */
export function logConsole(log: Logger): void {
  for (const method of METHODS) {
    console[method] = (...given: unknown[]) => {
      const error = given.find((one) => one instanceof Error);
      const text = given.filter((one) => typeof one === 'string').join(' ');
      log[method === 'error' || error ? 'error' : 'warn'](printedOf(text, error), 'a library printed');
    };
  }
  process.removeAllListeners('warning').on('warning', (warning) => {
    log.warn(printedOf('', warning), 'a library printed');
  });
}

function printedOf(text: string, error: Error | undefined) {
  const [line = ''] = stripVTControlCharacters(text)
    .trim()
    .split(/[\r\n\u2028\u2029]/);
  const { digest, code } = (error ?? {}) as { digest?: unknown; code?: unknown };
  return {
    printed: line.slice(0, SHOWN),
    ...(error && { error: error.name, stack: stackOf(error) }),
    ...(typeof digest === 'string' && { digest: digest.slice(0, SHOWN) }),
    ...(typeof code === 'string' && { code: code.slice(0, SHOWN) }),
  };
}
