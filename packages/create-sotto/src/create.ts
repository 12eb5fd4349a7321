// Copies a template into a new folder, and fills in the project's name and the versions of this release.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { CreateError } from "./errors.ts";
import { TEMPLATES, type Template } from "./templates.ts";

const PACKAGE = join(import.meta.dirname, "..");
/** Where `npm run release` serves the packages. They are not on the public registry. */
const REGISTRY = "http://127.0.0.1:4873";
/** npm treats files with these names specially when packing, so the templates use an underscore instead of the dot. */
const DOT_FILES = ["gitignore", "dockerignore", "env.example", "mcp.json"];
/** Package names that npm accepts, without a scope. */
const NAME = /^[a-z0-9][a-z0-9._-]{0,213}$/;

/** The project to create. */
export interface NewProject {
  readonly template: Template;
  /** Absolute path. */
  readonly folder: string;
  /** The package's name: the folder's last part. */
  readonly name: string;
}

/**
 * Creates a project.
 * @param folder path of the new project; it must be empty or not exist. Its last part is the package's name
 * @param registry the registry of the packages of sotto; default: that of `npm run release`
 * @throws CreateError TEMPLATE_UNKNOWN, NAME_INVALID, FOLDER_NOT_EMPTY, FOLDER_NOT_WRITABLE; nothing was written then
 */
export function createProject(templateName: string, folder: string, registry: string = REGISTRY): NewProject {
  const template = findTemplate(templateName);
  const path = resolve(folder);
  const name = basename(path);
  assertName(name);
  assertEmpty(path);
  try {
    mkdirSync(path, { recursive: true });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new CreateError(
      "FOLDER_NOT_WRITABLE",
      `${path} cannot be created (${code}); choose another folder`,
      {},
      { cause },
    );
  }
  for (const part of template.folders)
    cpSync(join(PACKAGE, "templates", part), path, {
      recursive: true,
      filter: (from) => basename(from) !== "node_modules",
    });
  for (const file of DOT_FILES)
    if (existsSync(join(path, `_${file}`))) renameSync(join(path, `_${file}`), join(path, `.${file}`));
  writeFileSync(join(path, ".npmrc"), npmrc(registry));
  fillManifest(join(path, "package.json"), name);
  return { template, folder: path, name };
}

/** With an older Node, npm then says so when it installs; otherwise the first start would fail with a bad option. */
const npmrc = (registry: string): string => `; sotto's packages come from npm run release.
@sotto:registry=${registry}/
engine-strict=true
`;

/** @throws CreateError TEMPLATE_UNKNOWN */
export function findTemplate(name: string): Template {
  const template = TEMPLATES.find((one) => one.name === name);
  if (template !== undefined) return template;
  const names = TEMPLATES.map((one) => one.name).join(", ");
  throw new CreateError(
    "TEMPLATE_UNKNOWN",
    `there is no template ${JSON.stringify(name.slice(0, 60))}; choose one of ${names}`,
  );
}

/** @throws CreateError NAME_INVALID */
function assertName(name: string): void {
  if (NAME.test(name) && name !== "node_modules") return;
  const shown = JSON.stringify(name.slice(0, 60));
  throw new CreateError(
    "NAME_INVALID",
    `the folder's name ${shown} cannot be a package's name: expected a to z, 0 to 9, ".", "_" and "-", beginning with a letter or digit`,
  );
}

/** @throws CreateError FOLDER_NOT_EMPTY */
function assertEmpty(path: string): void {
  if (!existsSync(path)) return;
  if (statSync(path).isDirectory() && readdirSync(path).every((file) => file === ".git")) return;
  throw new CreateError("FOLDER_NOT_EMPTY", `${path} is not an empty folder; choose another one`);
}

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

const readManifest = (path: string): Manifest => JSON.parse(readFileSync(path, "utf8")) as Manifest;

/** All packages of a release have one version: this package's. */
function fillManifest(path: string, name: string): void {
  const { version } = readManifest(join(PACKAGE, "package.json"));
  const manifest = readManifest(path);
  const dependencies = Object.fromEntries(
    Object.entries(manifest.dependencies ?? {}).map(([one, range]) => [one, range === "workspace:*" ? version : range]),
  );
  writeFileSync(path, `${JSON.stringify({ ...manifest, name, dependencies }, undefined, 2)}\n`);
}
