// `node reference.ts`: writes a page for each public entry point of the packages to build/reference, from the declarations
// and docstrings in their dist. It fails if a docstring is missing, says nothing, or has a link that leads
// nowhere.
import { join } from "node:path";
import { Application, Converter, ReflectionKind, type TypeDocOptions } from "typedoc";
import type { PluginOptions } from "typedoc-plugin-markdown";
import { entryPoints, moduleName, root } from "./exports.ts";
import { repeating, undocumented } from "./undocumented.ts";

const entries = entryPoints();
const options: TypeDocOptions & PluginOptions = {
  logLevel: "Warn",
  plugin: ["typedoc-plugin-markdown"],
  entryPoints: entries.map(({ types }) => types),
  tsconfig: join(import.meta.dirname, "tsconfig.reference.json"),
  // `tsc` has checked the sources of these declarations.
  skipErrorChecking: true,
  outputs: [{ name: "markdown", path: join(import.meta.dirname, "build", "reference") }],
  basePath: join(root, "packages"),
  name: "Packages",
  readme: "none",
  disableSources: true,
  disableGit: true,
  excludePrivate: true,
  excludeExternals: true,
  sort: ["alphabetical"],
  // `undocumented` checks for docstrings: TypeDoc would also require them for types without a name.
  validation: { notDocumented: false, notExported: false, invalidLink: true, rewrittenLink: true },
  // A docstring that a package inherits from kysely may link to kysely's own exports.
  externalSymbolLinkMappings: { kysely: { "*": "#" } },
  treatValidationWarningsAsErrors: true,
  // The Markdown has a page for each module, and tables instead of long lists.
  router: "module",
  entryFileName: "index",
  hideBreadcrumbs: true,
  hidePageHeader: true,
  hideGroupHeadings: false,
  // `AmountBounds` and `amountBounds` are different exports.
  sluggerConfiguration: { lowercase: false },
  useCustomAnchors: true,
  useCodeBlocks: true,
  sanitizeComments: true,
  expandObjects: false,
  parametersFormat: "table",
  interfacePropertiesFormat: "table",
  classPropertiesFormat: "table",
  typeDeclarationFormat: "table",
  propertyMembersFormat: "table",
  indexFormat: "table",
  tableColumnSettings: { hideSources: true, hideInherited: true, hideModifiers: true, hideOverrides: true },
};

const app = await Application.bootstrapWithPlugins(options as TypeDocOptions);
const names = new Map(entries.map((entry) => [moduleName(entry), entry.name]));
app.converter.on(Converter.EVENT_CREATE_DECLARATION, (_, reflection) => {
  if (reflection.kind === ReflectionKind.Module) reflection.name = names.get(reflection.name) ?? reflection.name;
});
const project = await app.convert();
if (project === undefined) process.exit(1);
app.validate(project);
for (const name of undocumented(project)) app.logger.error(`${name} has no docstring`);
for (const name of repeating(project)) app.logger.error(`${name} has a docstring that only repeats its name`);
if (app.logger.hasErrors() || app.logger.hasWarnings()) process.exit(1);
await app.generateOutputs(project);
if (app.logger.hasErrors()) process.exit(1);
