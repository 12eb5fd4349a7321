import type { Migrations } from "@sotto/database";
import type { ErrorTable } from "@sotto/protocol";
import type { ServiceExtension } from "@sotto/server";
import { CHECKS } from "../checks.ts";
import { ROUTE_ERRORS } from "../error-definitions.ts";
import { ServiceError } from "../errors.ts";
import { MIGRATIONS } from "../store/migrations.ts";
import { TABLES } from "../store/schema.ts";
import { SETTINGS } from "./settings.ts";

const NAME = /^[a-z][a-z-]{0,31}$/;

/** The names of one kind that are taken, and by whom. */
export class Taken {
  readonly #owners: Map<string, string>;
  readonly #what: string;

  constructor(what: string, own: readonly string[]) {
    this.#what = what;
    this.#owners = new Map(own.map((name) => [name, "the service"]));
  }

  take(names: readonly string[], by: string): void {
    for (const name of names) {
      const owner = this.#owners.get(name);
      if (owner !== undefined)
        throw new ServiceError("EXTENSION_INVALID", `${by} has the ${this.#what} ${name}, which ${owner} has already`);
      this.#owners.set(name, by);
    }
  }
}

const variablesOf = (table: ServiceExtension["settings"] = {}) => Object.values(table).map(({ variable }) => variable);

/** Refuses extensions that collide with each other or with the service. @throws ServiceError EXTENSION_INVALID */
export function assertExtensions(extensions: readonly ServiceExtension[]): void {
  const names = new Taken("name", Object.keys(CHECKS));
  const keys = new Taken("setting", Object.keys(SETTINGS));
  const variables = new Taken("setting", variablesOf(SETTINGS));
  const tables = new Taken("table", TABLES);
  const migrations = new Taken("migration", Object.keys(MIGRATIONS));
  const errors = new Map(Object.entries(ROUTE_ERRORS as ErrorTable));
  for (const { name, settings, tables: own, errors: codes = {} } of extensions) {
    if (!NAME.test(name))
      throw new ServiceError("EXTENSION_INVALID", "the name of an extension must have 1 to 32 characters of a-z and -");
    const by = `the extension ${name}`;
    names.take([name], by);
    keys.take(Object.keys(settings ?? {}), by);
    variables.take(variablesOf(settings), by);
    tables.take(own?.names ?? [], by);
    migrations.take(Object.keys(own?.migrations ?? {}), by);
    for (const [code, definition] of Object.entries(codes)) {
      const known = errors.get(code);
      if (known !== undefined && (known.means !== definition.means || known.http !== definition.http))
        throw new ServiceError(
          "EXTENSION_INVALID",
          `${by} defines the error ${code} differently than another extension`,
        );
      errors.set(code, definition);
    }
  }
}

export const migrationsOf = (extensions: readonly { readonly extension: ServiceExtension }[]): Migrations =>
  Object.assign({}, ...extensions.map(({ extension }) => extension.tables?.migrations ?? {}));

/** The errors that routes of the service and of its extensions respond with. */
export const routeErrors = (extensions: readonly ServiceExtension[]): ErrorTable =>
  Object.assign({}, ROUTE_ERRORS, ...extensions.map(({ errors }) => errors ?? {}));
