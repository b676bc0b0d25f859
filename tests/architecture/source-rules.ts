import ts from 'typescript';
import { lineOf, type Source, walk } from './sources';

/**
 * The variables of these modules are only caches. Each bundle may have its own copy, because the content can be
 * recomputed at any time.
 */
const CACHES = ['lib/countries.ts', 'lib/dates.ts', 'lib/records/save-records.ts', 'lib/store/store.ts'];
/** These files run in only one bundle or in their own process. */
const ALONE = /^(app|lib\/cli|lib\/stripe-local|db\/seed)\//;

/**
 * Lists variables that keep state in a module, such as `lib/x.ts:7 …`. Each bundle of a process would have its own copy
 * of the state.
 */
export function moduleState(sources: Source[]): string[] {
  const checked = sources.filter(({ path }) => !ALONE.test(path) && !CACHES.includes(path));
  return checked.flatMap(({ path, tree }) =>
    tree.statements
      .filter(isState)
      .map((node) => `${path}:${lineOf(tree, node)} keeps state in a module: use perProcess`),
  );
}

function isState(node: ts.Statement): boolean {
  if (!ts.isVariableStatement(node)) return false;
  const { declarations, flags } = node.declarationList;
  return !(flags & ts.NodeFlags.Const) || declarations.some(({ initializer }) => isEmpty(initializer));
}

/**
 * Returns true if an expression creates an empty collection. An empty collection can only be of use if it is filled
 * later, so it is state.
 */
function isEmpty(made: ts.Expression | undefined): boolean {
  return /^(\[\s*\]|\{\s*\}|new (Weak)?(Map|Set)(<.*>)?(\(\s*\))?)$/s.test(made?.getText() ?? '');
}

/**
 * Uses of the clock, randomness and the environment, each with the file that may contain it. `also` is the only
 * expression of another file that may contain it too.
 */
const WORLD: {
  home: string;
  also?: { path: string; text: string };
  says: string;
  matches(node: ts.Node): boolean;
}[] = [
  {
    home: 'lib/inherited-env.ts',
    // Next replaces `process.env.NEXT_RUNTIME` at compile time, so instrumentation.ts must contain this expression.
    also: { path: 'instrumentation.ts', text: 'process.env.NEXT_RUNTIME' },
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
    // The proxy generates the nonce of a page's content security policy, and cannot access the runtime.
    also: { path: 'proxy.ts', text: 'randomBytes' },
    says: 'draws chance',
    matches: (node) =>
      isMember(node, 'Math', 'random') ||
      (ts.isIdentifier(node) && /^(randomUUID|getRandomValues)$/.test(node.text)) ||
      (ts.isImportSpecifier(node) &&
        /^random(Bytes|Int|FillSync)$/.test((node.propertyName ?? node.name).text)),
  },
];

/**
 * Lists forbidden uses of the clock, of randomness and of the environment, such as `lib/payments/x.ts:7 asks the clock:
 * only lib/runtime.ts may`.
 */
export function usesOfTheWorld(sources: Source[]): string[] {
  const found = new Set<string>();
  for (const { path, tree } of sources) {
    walk(tree, (node) => {
      for (const { home, also, says, matches } of WORLD) {
        if (path !== home && matches(node) && !(path === also?.path && isText(node, also.text))) {
          found.add(`${path}:${lineOf(tree, node)} ${says}: only ${home} may`);
        }
      }
    });
  }
  return [...found];
}

/** Returns whether a node, or the expression around it, is exactly this source text. */
function isText(node: ts.Node, text: string): boolean {
  return [node, node.parent].some((one) => one.getText() === text);
}

/** Returns whether a node reads a member, as `object.name` or as `object['name']`. */
function isMember(node: ts.Node, object: string, name: string): boolean {
  const isAccess = ts.isPropertyAccessExpression(node) || ts.isElementAccessExpression(node);
  if (!isAccess || !isNamed(node.expression, object)) return false;
  const member = ts.isPropertyAccessExpression(node) ? node.name : node.argumentExpression;
  return (ts.isMemberName(member) || ts.isStringLiteralLike(member)) && member.text === name;
}

function isNamed(node: ts.Node, name: string): boolean {
  return ts.isIdentifier(node) && node.text === name;
}

/**
 * Lists functions and values that a server file imports by name from a client file, except components and hooks. On
 * the server they are only references, so calling one throws when the page is rendered. Neither the type check nor the
 * build reports this.
 */
export function clientValuesOnTheServer(sources: Source[]): string[] {
  const clients = new Set(sources.filter(isClient).map(({ path }) => path));
  return sources
    .filter((source) => !isClient(source))
    .flatMap(({ path, tree, imports }) =>
      tree.statements.filter(ts.isImportDeclaration).flatMap((node) => {
        const line = lineOf(tree, node);
        const target = imports.find((one) => one.line === line)?.target ?? '';
        return clients.has(target)
          ? valuesOf(node).map((name) => `${path}:${line} imports ${name} of ${target}, a client file`)
          : [];
      }),
    );
}

const isClient = ({ tree }: Source): boolean => /^['"]use client['"]/.test(tree.text);

/** Returns the names in an import's braces that are neither types nor named like components or hooks. */
function valuesOf({ importClause }: ts.ImportDeclaration): string[] {
  const named = importClause?.namedBindings;
  if (!importClause || importClause.isTypeOnly || !named || !ts.isNamedImports(named)) return [];
  return named.elements
    .filter(({ isTypeOnly }) => !isTypeOnly)
    .map(({ name }) => name.text)
    .filter((name) => !/^([A-Z][a-z]|use[A-Z])/.test(name));
}
