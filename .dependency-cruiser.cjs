// Which package may import which: docs/architecture.md as a check. Whatever is not allowed here is an error.
const allowed = {
  protocol: [],
  chain: ["protocol"],
  groth16: [],
  prover: ["protocol", "groth16"],
  prepaid: [
    "protocol",
    "chain",
    "wallet",
    "client",
    "cli-kit",
    "database",
    "server",
    "phone-registry",
    "verifier-service",
    "resource-server",
  ],
  mpp: ["protocol", "wallet", "client", "resource-server"],
  wallet: ["protocol", "chain", "groth16", "prover"],
  client: ["protocol", "chain", "groth16", "prover", "wallet"],
  "resource-server": ["protocol", "chain", "prover", "database"],
  database: ["protocol"],
  server: ["protocol", "database"],
  command: ["protocol"],
  certify: [],
  keys: ["protocol", "command", "certify"],
  deploy: ["protocol", "prover", "command", "keys"],
  local: [
    "protocol",
    "prover",
    "wallet",
    "client",
    "prepaid",
    "server",
    "resource-server",
    "verifier-service",
    "service",
    "command",
    "keys",
    "deploy",
  ],
  bench: [
    "protocol",
    "groth16",
    "prover",
    "prepaid",
    "wallet",
    "client",
    "resource-server",
    "verifier-service",
    "command",
    "certify",
    "keys",
    "dev",
  ],
  dev: ["protocol", "prover", "wallet", "client", "prepaid", "resource-server", "web", "command", "keys", "local"],
  "phone-registry": ["protocol", "chain", "database", "server"],
  x402: ["protocol", "wallet", "client"],
  web: ["protocol", "chain", "prover", "wallet", "client", "prepaid"],
  "cli-kit": ["protocol", "chain", "prover", "wallet", "client"],
  cli: ["protocol", "client", "cli-kit", "prepaid", "mpp"],
  mcp: ["protocol", "wallet", "client", "prepaid", "mpp", "cli-kit", "resource-server"],
  "create-sotto": ["protocol"],
  "verifier-service": ["protocol", "chain", "groth16", "prover", "database", "server"],
  service: ["protocol", "server", "verifier-service", "phone-registry", "prepaid"],
};

/** Folders outside of packages/ that a package may import. */
const alsoOutside = {
  deploy: ["^ignition/modules/"],
  // Benches start the chains, services and browsers that tests start.
  bench: ["^test/(world|[^/]+/support)/"],
};

const direction = Object.entries(allowed).map(([name, others]) => ({
  name: `${name}-imports-only-what-it-may`,
  severity: "error",
  comment: `packages/${name} may import of this project: ${others.join(", ") || "nothing"}`,
  from: { path: `^packages/${name}/` },
  to: {
    path: "^(packages|circuits|contracts|scripts|test|ignition)/",
    // Sources import no tests: a rule of its own, below.
    pathNot: [`^packages/(${[name, ...others].join("|")})/`, "^test/kit/", ...(alsoOutside[name] ?? [])],
  },
}));

module.exports = {
  forbidden: [
    ...direction,
    {
      name: "packages-are-listed",
      severity: "error",
      comment: "a new package has to say here what it may import",
      from: { path: "^packages/", pathNot: `^packages/(${Object.keys(allowed).join("|")})/` },
      to: {},
    },
    {
      name: "no-cycles",
      severity: "error",
      comment: "files that import each other cannot be read or tested one at a time",
      from: {},
      to: { circular: true },
    },
    {
      name: "no-folder-cycles",
      severity: "error",
      comment: "folders that import each other have to be read and tested together",
      scope: "folder",
      from: { path: "^packages/[^/]+/src" },
      to: { circular: true },
    },
    {
      name: "no-way-into-a-package",
      severity: "error",
      comment: "a package is used by its name, so that what it exports is what others rely on",
      from: {
        path: "^(packages/([^/]+)|circuits|scripts|test|ignition)/",
        // The launcher runs before the packages are linked: a rule of its own, below. Ignition's modules belong to the root,
        // and turbo would count a package that the root depends on among the inputs of every task.
        pathNot: "^(scripts/(run|launcher/[^/]+)\\.mjs|ignition/support/pool\\.ts)$",
      },
      to: { path: "^packages/[^/]+/(src|dist)/", pathNot: "^packages/$2/", dependencyTypes: ["local"] },
    },
    {
      name: "nothing-imports-scripts",
      severity: "error",
      comment: "scripts/ has commands and chores; what others use is in a package",
      // Mocha's configuration names the reporter.
      from: { pathNot: "^(scripts/|\\.mocharc\\.cjs$)" },
      // Chores whose tests are suites of their own.
      to: { path: "^scripts/", pathNot: "^scripts/release/" },
    },
    {
      name: "launcher-needs-no-installation",
      severity: "error",
      comment: "the launcher installs the dependencies, so it can import none",
      from: { path: "^scripts/(run|tasks|launcher/[^/]+)\\.mjs$" },
      to: {
        dependencyTypesNot: ["core"],
        pathNot: "^(scripts/(tasks|launcher/[^/]+)|packages/command/src/(exclusive|node-packages|progress))\\.mjs$",
      },
    },
    {
      name: "protocol-is-pure",
      severity: "error",
      comment: "the protocol runs in browsers: no module of Node's",
      from: { path: "^packages/protocol/src/" },
      to: { dependencyTypes: ["core"] },
    },
    {
      name: "tokens-are-pure",
      severity: "error",
      comment: "payers' browsers make tokens: the core of prepaid has no module of Node's and knows no other entry",
      from: { path: "^packages/prepaid/src/(index\\.ts|core/)" },
      to: { path: ".", pathNot: "^packages/prepaid/src/core/|^packages/protocol/|node_modules/@noble/hashes/" },
    },
    {
      name: "tokens-are-spent-in-browsers",
      severity: "error",
      comment: "browsers spend tokens: the client's entry of prepaid has no module of Node's and nothing of a server's",
      from: { path: "^packages/prepaid/src/client(\\.ts|/)" },
      to: {
        path: ".",
        dependencyTypesNot: ["type-only"],
        pathNot:
          "^packages/prepaid/src/(index\\.ts|core/|client/)|^packages/(protocol|chain|wallet|client)/|node_modules/ethers/",
      },
    },
    {
      name: "mpp-formats-are-pure",
      severity: "error",
      comment:
        "clients in browsers read and write MPP's formats: the core of mpp has no module of Node's and knows no entry",
      from: { path: "^packages/mpp/src/(index\\.ts|core/)" },
      to: { path: ".", pathNot: "^packages/mpp/src/core/|^packages/protocol/|node_modules/@noble/hashes/" },
    },
    {
      name: "mpp-is-paid-in-browsers",
      severity: "error",
      comment:
        "browsers pay at servers of MPP: the client's entry of mpp has no module of Node's and nothing of a server's",
      from: { path: "^packages/mpp/src/client(\\.ts|/)" },
      to: {
        path: ".",
        dependencyTypesNot: ["type-only"],
        pathNot: "^packages/mpp/src/(core|client)/|^packages/protocol/",
      },
    },
    {
      name: "sources-import-no-tests",
      severity: "error",
      comment: "what is published cannot rest on what is not",
      from: { path: "^packages/[^/]+/src/", pathNot: "^packages/bench/" },
      to: { path: ["^packages/[^/]+/test/", "^test/"] },
    },
    {
      name: "benches-import-support-only",
      severity: "error",
      comment: "benches start what tests start, and are no tests themselves",
      from: { path: "^packages/bench/src/" },
      to: { path: "^packages/[^/]+/test/", pathNot: "^packages/[^/]+/test/support/" },
    },
    {
      name: "kit-imports-nothing-of-ours",
      severity: "error",
      comment: "every package's tests use the kit, so it cannot use a package",
      from: { path: "^test/kit/" },
      to: { path: "^(packages|circuits|contracts|scripts|ignition|test)/", pathNot: "^test/kit/" },
    },
    {
      name: "declared-dependencies",
      severity: "error",
      comment: "what a published package imports is in its package.json, or it fails once installed elsewhere",
      from: { path: "^packages/[^/]+/src/" },
      to: {
        dependencyTypes: ["npm-dev", "npm-no-pkg", "npm-unknown", "unknown", "undetermined"],
        // A framework the user brings is a dependency of the tests as well.
        dependencyTypesNot: ["npm-peer"],
        pathNot: "^packages/|^test/kit/",
      },
    },
    {
      name: "resolvable",
      severity: "error",
      comment: "every import leads somewhere",
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    parser: "swc",
    doNotFollow: { path: ["node_modules", "/dist/"] },
    // Templates are other people's programs, which are put together from several folders.
    exclude: { path: ["^types/", "^artifacts/", "^cache/", "^circuits/build/", "^packages/create-sotto/templates/"] },
    moduleSystems: ["es6", "cjs"],
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "node", "default"] },
    progress: { type: "none" },
  },
};
