import ts from 'typescript';
import { lineOf, type Source } from './sources';

/** Each bundle may have its own: what they hold can be made again at any time. */
const CACHES = ['lib/dates.ts', 'lib/records/parse-draft.ts', 'lib/sync/store/read.ts'];
/** They run in one bundle, or in a process of their own. */
const ALONE = /^(app|lib\/cli|lib\/stripe-local|db\/seed)\//;
const COLLECTIONS = ['Map', 'Set', 'WeakMap', 'WeakSet'];

/** State of modules, of which every bundle of a process would have its own: `lib/x.ts:7 …`. */
export function moduleState(sources: Source[]): string[] {
  return sources.flatMap(({ path, tree }) =>
    ALONE.test(path) || CACHES.includes(path)
      ? []
      : tree.statements
          .filter(isState)
          .map((node) => `${path}:${lineOf(tree, node)} keeps state in a module: use perProcess`),
  );
}

function isState(node: ts.Statement): boolean {
  if (!ts.isVariableStatement(node)) return false;
  const { declarations, flags } = node.declarationList;
  return !(flags & ts.NodeFlags.Const) || declarations.some(({ initializer }) => isEmpty(initializer));
}

/** A collection that is made empty is filled later. */
function isEmpty(made: ts.Expression | undefined): boolean {
  if (!made) return false;
  if (ts.isArrayLiteralExpression(made)) return made.elements.length === 0;
  if (ts.isObjectLiteralExpression(made)) return made.properties.length === 0;
  return (
    ts.isNewExpression(made) &&
    ts.isIdentifier(made.expression) &&
    COLLECTIONS.includes(made.expression.text) &&
    !made.arguments?.length
  );
}
