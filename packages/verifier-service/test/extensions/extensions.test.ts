import { PROTOCOL_ERRORS } from "@sotto/protocol";
import { type OpenExtension, parse, type ServiceCore, type ServiceExtension, setting } from "@sotto/server";
import { EVERY_DATABASE, overDatabases } from "@sotto/test-kit/databases";
import { expectCode, expectRejected } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import { Counter } from "prom-client";
import { readConfig } from "../../src/config/config.ts";
import { type ServedExtensions, serveExtensions } from "../../src/extensions/serve.ts";
import { openApiDocument } from "../../src/http/openapi-document.ts";
import { openStore } from "../../src/store/index.ts";
import { TABLES } from "../../src/store/schema.ts";
import { visits } from "./visits.ts";

const ENVIRONMENT = {
  SOTTO_CHAIN_ID: "31337",
  SOTTO_POOL: `0x${"5a".repeat(20)}`,
  SOTTO_RELAYER_KEY: `0x${"01".repeat(32)}`,
  SOTTO_STORE: "sqlite::memory:",
};

/** An extension with nothing but this change. */
const other = (change: Partial<ServiceExtension> = {}): ServiceExtension => ({
  name: "other",
  open: () => ({}),
  ...change,
});
const opening = (open: () => OpenExtension): ServiceExtension => other({ open });

describe("extensions of the service", () => {
  const served: ServedExtensions[] = [];
  afterEach(async () => {
    for (const each of served.splice(0)) await each.close();
  });
  async function serve(extensions: readonly ServiceExtension[], settings: Record<string, string> = {}) {
    const found = await serveExtensions(readConfig({ ...ENVIRONMENT, ...settings }, extensions));
    served.push(found);
    return found;
  }
  const refused = (code: string, message: RegExp, ...extensions: readonly ServiceExtension[]) =>
    expectCode(code, () => readConfig(ENVIRONMENT, extensions), message);
  const failing = async (code: string, message: string, ...extensions: readonly ServiceExtension[]) =>
    expect((await expectRejected(code, () => serve(extensions))).message).to.include(message);

  it("add a route, a table and a metric without a change to the service", async () => {
    const { app, metrics } = await serve([visits, other()]);
    const visit = () => app.inject({ method: "POST", url: "/visits/home" });
    expect((await visit()).json()).to.deep.equal({ count: 1 });
    expect((await visit()).json()).to.deep.equal({ count: 2 });
    expect(await metrics()).to.match(/^sotto_visits_total 2$/m);
    expect((await app.inject({ method: "GET", url: "/visits/home" })).statusCode).to.equal(405);
  });

  it("see where the service settles and its database, but no secret, and cannot close the database", async () => {
    const opened: ServiceCore[] = [];
    const seeing = other({
      open(core) {
        opened.push(core);
        return {};
      },
    });
    const publicUrl = "https://pay.example";
    await serve([seeing], { SOTTO_PUBLIC_URL: publicUrl });
    const [core] = opened;
    expect(core?.place).to.deep.equal({ chainId: 31337, pool: ENVIRONMENT.SOTTO_POOL, publicUrl, local: true });
    expect(core?.database()).to.have.property("db");
    expect(core?.database()).to.not.have.property("close");
  });

  it("are refused if two have the same name, setting, table, migration or error", () => {
    const limit = { limit: setting("SOTTO_LIMIT", parse.text, undefined, "a limit") };
    const sameVariable = { most: limit.limit };
    const migrations = visits.tables!.migrations;
    const UNIQUE = { means: "It is not unique.", cause: "It was made twice.", http: 409 };
    const pairs: readonly [RegExp, ServiceExtension, ServiceExtension][] = [
      [/visits has the name visits, which the extension visits has already/, visits, visits],
      [/third has the setting limit/, other({ settings: limit }), other({ name: "third", settings: limit })],
      [
        /third has the setting SOTTO_LIMIT/,
        other({ settings: limit }),
        other({ name: "third", settings: sameVariable }),
      ],
      [/other has the table visits/, visits, other({ tables: { names: ["visits"], migrations: {} } })],
      [/other has the migration visits-0001/, visits, other({ tables: { names: ["others"], migrations } })],
      [
        /third defines the error UNIQUE differently/,
        other({ errors: { UNIQUE } }),
        other({ name: "third", errors: { UNIQUE: { ...UNIQUE, http: 400 } } }),
      ],
    ];
    for (const [message, one, two] of pairs) {
      refused("EXTENSION_INVALID", message, one, two);
      for (const control of [one, two]) readConfig(ENVIRONMENT, [control]);
    }
    readConfig(ENVIRONMENT, [other({ errors: { UNIQUE } }), other({ name: "third", errors: { UNIQUE } })]);
  });

  it("are refused if they take what the service has", () => {
    const port = { port: setting("SOTTO_LIMIT", parse.text, undefined, "a limit") };
    const variable = { limit: setting("SOTTO_PORT", parse.text, undefined, "a limit") };
    const { INVALID_HEX } = PROTOCOL_ERRORS;
    refused("EXTENSION_INVALID", /1 to 32 characters/, other({ name: "" }));
    refused("EXTENSION_INVALID", /1 to 32 characters/, other({ name: "__proto__" }));
    refused("EXTENSION_INVALID", /the name chain, which the service/, other({ name: "chain" }));
    refused("EXTENSION_INVALID", /the setting port/, other({ settings: port }));
    refused("EXTENSION_INVALID", /the setting SOTTO_PORT/, other({ settings: variable }));
    refused("EXTENSION_INVALID", /the table quotas/, other({ tables: { names: ["quotas"], migrations: {} } }));
    const migrations = { "0001-initial": visits.tables!.migrations["visits-0001"]! };
    refused("EXTENSION_INVALID", /the migration 0001-initial/, other({ tables: { names: [], migrations } }));
    refused(
      "EXTENSION_INVALID",
      /the error INVALID_HEX/,
      other({ errors: { INVALID_HEX: { ...INVALID_HEX, http: 500 } } }),
    );
    readConfig(ENVIRONMENT, [other({ errors: { INVALID_HEX } })]);
  });

  it("stop the start if two have the same route or metric, or take the service's metric", async () => {
    const routes: OpenExtension = { routes: (app) => void app.get("/same", () => "") };
    const route = opening(() => routes);
    await failing("EXTENSION_FAILED", "the extension third did not start: Method 'GET' already declared", route, {
      ...route,
      name: "third",
    });
    const metric = (name: string): ServiceExtension =>
      other({
        open({ metrics }) {
          new Counter({ name, help: "counts", registers: [metrics] });
          return {};
        },
      });
    for (const name of ["sotto_verify_total", "sotto_visits_total"])
      await failing(
        "EXTENSION_FAILED",
        `A metric with the name ${name} has already been registered`,
        visits,
        metric(name),
      );
    await serve([visits, metric("sotto_others_total")]);
  });

  it("stop the start if they throw, with an error that names them and contains no secret", async () => {
    const secret = "postgres://user:hunter2@db.example/prices";
    const thrower = opening(() => {
      throw new Error(`cannot reach ${secret}\nand more`);
    });
    const { message } = await expectRejected("EXTENSION_FAILED", () => serve([thrower]));
    expect(message).to.match(/^the extension other did not start: cannot reach postgres:\/\/db.example and more$/);
    await failing(
      "EXTENSION_FAILED",
      "it threw no error",
      opening(() => Promise.reject("x") as never),
    );
    const late = opening(() => ({
      start() {
        throw new Error("no feed");
      },
    }));
    await failing("EXTENSION_FAILED", "the extension other did not start: no feed", late);
  });

  it("are closed if a later one fails, the last one first", async () => {
    const closed: string[] = [];
    const closable = (name: string): ServiceExtension =>
      other({ name, open: () => ({ close: () => void closed.push(name) }) });
    const thrower = opening(() => {
      throw new Error("no feed");
    });
    await failing("EXTENSION_FAILED", "no feed", closable("first"), closable("second"), thrower, closable("last"));
    expect(closed).to.deep.equal(["second", "first"]);
  });

  it("add settings, report their problems, and without the extension its settings are unknown", async () => {
    const limited = other({
      settings: { limit: setting("SOTTO_LIMIT", parse.integer(1), "5", "a limit") },
      problems: ({ limit }, { chainId }) => (limit === chainId ? ["SOTTO_LIMIT must not be the chain id"] : []),
    });
    const read = (limit: string, ...extensions: readonly ServiceExtension[]) =>
      readConfig({ ...ENVIRONMENT, SOTTO_LIMIT: limit }, extensions);
    expect(read("7", limited).extensions[0]?.settings).to.deep.equal({ limit: 7 });
    expect(readConfig(ENVIRONMENT, [limited]).extensions[0]?.settings).to.deep.equal({ limit: 5 });
    expectCode("INVALID_CONFIG", () => read("0", limited), /SOTTO_LIMIT must be/);
    expectCode("INVALID_CONFIG", () => read("31337", limited), /must not be the chain id/);
    expectCode("INVALID_CONFIG", () => read("7"), /SOTTO_LIMIT is not a setting/);
    const broken = other({ name: "third", problems: () => ["SOTTO_FEED is missing"] });
    expectCode("INVALID_CONFIG", () => read("31337", limited, broken), /SOTTO_LIMIT must not.*SOTTO_FEED is missing/s);
  });

  it("are part of the OpenAPI document", async () => {
    const documented = other({ ...visits, documented: (app) => void app.get("/visits", () => "") });
    expect(JSON.stringify(await openApiDocument([documented])))
      .to.include('"/visits"')
      .and.include("counts visits");
    expect(JSON.stringify(await openApiDocument())).to.not.include("visits");
  });
});

overDatabases("the database of a service with extensions", EVERY_DATABASE, (newUrl) => {
  it("has all tables of the service in its list of taken names", async () => {
    const store = await openStore({ url: await newUrl() });
    const names = (await store.database.db.introspection.getTables()).map(({ name }) => name);
    await store.close();
    expect(names.filter((name) => !name.startsWith("service_")).sort()).to.deep.equal([...TABLES].sort());
  });

  it("gets the tables of an extension that is added later, and then refuses a service without it", async () => {
    const url = await newUrl();
    const open = (extensions: readonly ServiceExtension[]) =>
      serveExtensions(readConfig({ ...ENVIRONMENT, SOTTO_STORE: url }, extensions));
    await (await open([])).close();
    const early = {
      ...visits,
      tables: { ...visits.tables!, migrations: { "0000-visits": visits.tables!.migrations["visits-0001"]! } },
    };
    const { app, close } = await open([early]);
    expect((await app.inject({ method: "POST", url: "/visits/home" })).json()).to.deep.equal({ count: 1 });
    await close();
    const { message } = await expectRejected("STORE_TOO_NEW", () => open([]));
    expect(message).to.include("0000-visits").and.include("add the extension");
  });
});
