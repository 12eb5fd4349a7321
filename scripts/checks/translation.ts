// Checks that React can update every page of the web app while a browser translates it. A translator replaces each text node
// by elements, but React still refers to the node: it throws as soon as it removes the node or inserts something before it,
// and changes of the text remain invisible. It has no reference to a text that is the only child of an element.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseSync } from "@swc/core";

/** A node of SWC's syntax tree. */
interface Node {
  readonly type: string;
  readonly span: { readonly start: number };
  readonly [field: string]: unknown;
}

/** A child of an element, without what renders nothing. */
type Child = { readonly kind: "text" | "element" | "elements" | "value"; readonly node: Node };

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && typeof (value as Node).type === "string";

/** The nodes directly below a node. */
const below = (node: Node): Node[] =>
  Object.values(node).flatMap((value) =>
    (Array.isArray(value) ? value : [value]).flatMap((each) =>
      // The arguments of a call are wrapped in objects without a type.
      isNode(each) ? [each] : isNode(Object(each).expression) ? [Object(each).expression as Node] : [],
    ),
  );

const inner = (node: Node): Node => (node.type === "ParenthesisExpression" ? inner(node["expression"] as Node) : node);

const NOTHING = new Set(["NullLiteral", "BooleanLiteral"]);
const rendersNothing = (node: Node): boolean =>
  NOTHING.has(node.type) || (node.type === "Identifier" && node["value"] === "undefined");

const FUNCTIONS = new Set(["ArrowFunctionExpression", "FunctionExpression", "FunctionDeclaration"]);

/** The expressions that a function returns. */
function returned(body: Node): Node[] {
  if (!Array.isArray(body["stmts"])) return [body];
  const results = (node: Node): Node[] =>
    FUNCTIONS.has(node.type)
      ? []
      : node.type === "ReturnStatement" && isNode(node["argument"])
        ? [node["argument"]]
        : below(node).flatMap(results);
  return results(body);
}

/** The function that `.map(..)` calls; undefined for other expressions. */
function mapped(node: Node): Node | undefined {
  if (node.type === "OptionalChainingExpression") return mapped(node["base"] as Node);
  if (node.type !== "CallExpression") return undefined;
  const callee = Object(node["callee"]) as { property?: { value?: unknown }; base?: Node };
  const { property } = Object(callee.base ?? callee) as { property?: { value?: unknown } };
  const [first] = node["arguments"] as readonly { expression: Node }[];
  return property?.value === "map" && first !== undefined && FUNCTIONS.has(first.expression.type)
    ? first.expression
    : undefined;
}

/**
 * Whether an expression renders elements or nothing, as far as its syntax shows. Fragments count as elements, because
 * their children are checked by themselves.
 * @param elements names of constants that are elements
 */
function rendersElements(expression: Node, elements: ReadonlySet<string>): boolean {
  const node = inner(expression);
  const all = (...nodes: Node[]) => nodes.every((each) => rendersElements(each, elements));
  if (node.type === "JSXElement" || node.type === "JSXFragment" || rendersNothing(node)) return true;
  if (node.type === "Identifier") return elements.has(String(node["value"]));
  if (node.type === "ConditionalExpression") return all(node["consequent"] as Node, node["alternate"] as Node);
  if (node.type === "BinaryExpression" && node["operator"] === "&&") return all(node["right"] as Node);
  const list = mapped(node);
  return list !== undefined && all(...returned(list["body"] as Node));
}

/** The names of constants whose value is an element. */
function elementNames(module: Node): Set<string> {
  const names = new Set<string>();
  const visit = (node: Node): void => {
    const { type, id, init } = node as Node & { id?: { value?: unknown }; init?: unknown };
    if (type === "VariableDeclarator" && isNode(init) && inner(init).type === "JSXElement")
      names.add(String(id?.value));
    for (const child of below(node)) visit(child);
  };
  visit(module);
  return names;
}

/** JSX drops white space that contains a line break. */
const isBlank = (text: string): boolean => /^\s*$/.test(text) && (text.includes("\n") || text === "");

function childrenOf(node: Node, elements: ReadonlySet<string>): Child[] {
  return (node["children"] as Node[]).flatMap((child): Child[] => {
    if (child.type === "JSXText") return isBlank(String(child["value"])) ? [] : [{ kind: "text", node: child }];
    if (child.type === "JSXElement") return [{ kind: "element", node: child }];
    if (child.type === "JSXFragment") return childrenOf(child, elements);
    const expression = inner(child["expression"] as Node);
    if (expression.type === "JSXEmptyExpression") return [];
    if (expression.type === "StringLiteral") return [{ kind: "text", node: expression }];
    return [{ kind: rendersElements(expression, elements) ? "elements" : "value", node: expression }];
  });
}

/** Whether translators leave an element as it is. */
function isVerbatim(node: Node): boolean {
  const { attributes = [], name } = Object(node["opening"]) as { attributes?: Node[]; name?: { value?: unknown } };
  if (name?.value === "Verbatim") return true;
  return attributes.some(
    ({ name: attribute, value }) =>
      Object(attribute).value === "translate" && Object(value).type === "StringLiteral" && Object(value).value === "no",
  );
}

function problemOf(node: Node, elements: ReadonlySet<string>): string | undefined {
  const children = childrenOf(node, elements);
  const has = (kind: Child["kind"]) => children.some((child) => child.kind === kind);
  if (node.type === "JSXFragment" && (has("text") || has("value")))
    return "a text directly in a fragment: wrap it in an element";
  if (children.some((child) => child.kind === "value" && mapped(child.node) !== undefined))
    return "a list of texts: wrap each in an element";
  if (children.length < 2) return undefined;
  if (has("value")) return "an expression that may be text beside siblings: wrap it in an element";
  if (has("text") && has("elements")) return "a text beside elements that come and go: wrap the text in an element";
  return undefined;
}

/** @returns the problems of a module with JSX, each with its line */
export function translationProblems(path: string, source: string): string[] {
  // SWC counts bytes from the first token of all modules that it has parsed, so the first token has to be the first byte.
  const prefix = "0;";
  const text = Buffer.from(prefix + source);
  const module = parseSync(text.toString("utf8"), { syntax: "typescript", tsx: true }) as unknown as Node;
  const lineOf = (node: Node) =>
    text
      .subarray(0, node.span.start - module.span.start)
      .toString("utf8")
      .split("\n").length;
  const found: string[] = [];
  const elements = elementNames(module);
  const visit = (node: Node, verbatim: boolean): void => {
    const jsx = node.type === "JSXElement" || node.type === "JSXFragment";
    const kept = verbatim || (node.type === "JSXElement" && isVerbatim(node));
    const problem = jsx && !kept ? problemOf(node, elements) : undefined;
    if (problem !== undefined) found.push(`${path}:${lineOf(node)}: ${problem}`);
    for (const child of below(node)) visit(child, kept);
  };
  visit(module, false);
  return found;
}

if (import.meta.main) {
  const root = join(import.meta.dirname, "..", "..");
  const list = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.tsx"], {
    cwd: root,
  });
  const paths = list.toString("utf8").split("\0").filter(Boolean);
  const found = paths.flatMap((path) => translationProblems(path, readFileSync(join(root, path), "utf8")));
  for (const line of found) console.error(line);
  console.log(`${paths.length} modules, ${found.length} problems`);
  process.exitCode = found.length === 0 && paths.length > 0 ? 0 : 1;
}
