import ts from 'typescript';
import { lineOf, type Source, walk } from './sources';

/** What makes a program depend on the world, and the one file that may ask it. */
const WORLD: { home: string; says: string; matches(node: ts.Node): boolean }[] = [
  {
    home: 'lib/inherited-env.ts',
    says: 'reads process.env',
    matches: (node) => isMember(node, 'process', 'env'),
  },
  {
    home: 'lib/runtime.ts',
    says: 'asks the clock',
    matches: (node) =>
      isMember(node, 'Date', 'now') ||
      isMember(node, 'performance', 'now') ||
      (ts.isNewExpression(node) && isNamed(node.expression, 'Date') && !node.arguments?.length),
  },
  {
    home: 'lib/runtime.ts',
    says: 'draws chance',
    matches: (node) =>
      isMember(node, 'Math', 'random') ||
      (ts.isIdentifier(node) && node.text === 'randomUUID') ||
      (ts.isImportSpecifier(node) &&
        /^random(Bytes|Int|FillSync)$/.test((node.propertyName ?? node.name).text)),
  },
];

/** One line per use outside its home: `lib/payments/x.ts:7 asks the clock: only lib/runtime.ts may`. */
export function usesOfTheWorld(sources: Source[]): string[] {
  const found = new Set<string>();
  for (const { path, tree } of sources) {
    walk(tree, (node) => {
      for (const { home, says, matches } of WORLD) {
        if (path !== home && matches(node)) {
          found.add(`${path}:${lineOf(tree, node)} ${says}: only ${home} may`);
        }
      }
    });
  }
  return [...found];
}

function isMember(node: ts.Node, object: string, name: string): boolean {
  return ts.isPropertyAccessExpression(node) && node.name.text === name && isNamed(node.expression, object);
}

function isNamed(node: ts.Node, name: string): boolean {
  return ts.isIdentifier(node) && node.text === name;
}
