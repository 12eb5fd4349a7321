// The commands behind each script of package.json. They run one after another in the root of the checkout.

const command = (line, variables = {}) => {
  const [name, ...args] = line.split(" ");
  return { command: name, args, variables };
};

// Builds only what has changed. turbo prints the output of each build, or one line for a cached result.
const turbo = (what) => ({
  ...command(`turbo run ${what} --output-logs=new-only --ui=stream --log-order=stream`),
  builds: true,
});
const build = turbo("build contracts:build");
const quietly = (step) => ({ ...step, quiet: true });
// The command line suggests commands in the form in which the user started it. For that it needs variables that the
// launcher otherwise removes.
const asStarted = (step) => {
  const names = ["npm_lifecycle_event", "npm_config_user_agent"].filter((name) => process.env[name] !== undefined);
  return { ...step, variables: Object.fromEntries(names.map((name) => [name, process.env[name]])) };
};

export const tasks = {
  // This command builds by itself, with a single progress display.
  dev: [command("node packages/dev/src/main.ts")],
  demo: [build, command("node packages/local/src/demo/main.ts")],
  test: [command("node scripts/test/main.ts")],
  "test:long": [command("node scripts/test/main.ts", { SOTTO_LONG: "1" })],
  "test:mutation": [command("node scripts/mutation/main.ts")],
  build: [build],
  bench: [build, command("node packages/bench/src/main.ts")],
  // Like dev, this command builds by itself.
  release: [command("node scripts/release/main.ts")],
  docs: [turbo("site"), command("node scripts/docs/main.ts")],
  "audit:pack": [command("node scripts/audit/main.ts")],
  screenshots: [build, command("node scripts/screenshots/main.ts")],
  new: [quietly(turbo("build --filter=create-sotto")), command("node packages/create-sotto/dist/main.js")],
  chain: [command("node packages/local/src/chain/start.ts")],
  "deploy:network": [build, command("node packages/deploy/src/main.ts")],
  "check:deployment": [build, command("node packages/deploy/src/check-main.ts")],
  hardhat: [command("hardhat")],
  "deploy:local": [quietly(build), command("node packages/local/src/chain/deploy.ts")],
  service: [quietly(build), command("node packages/service/dist/main.js")],
  rehearsal: [build, command("node packages/rehearsal/src/main.ts")],
  "token-key": [quietly(turbo("build --filter=@sotto/service")), command("node packages/service/dist/token-key.js")],
  registry: [quietly(build), command("node packages/phone-registry/dist/main.js")],
  curator: [quietly(build), command("node packages/origins/dist/curator/main.js")],
  sotto: [quietly(build), asStarted(command("node packages/cli/dist/main.js"))],
  "setup:dev": [command("node packages/keys/src/circuits/compile.ts"), command("node packages/keys/src/setup/dev.ts")],
  // The contracts are built first, because each turn of the loop generates a file from their ABI.
  "circuits:build": [turbo("contracts:build"), command("node scripts/loop/main.ts")],
  certify: [turbo("build --filter=@sotto/circuits"), command("node packages/keys/src/certify/main.ts")],
  "contracts:build": [command("hardhat build --quiet")],
  ceremony: [turbo("build --filter=@sotto/circuits"), command("node packages/keys/src/ceremony/main.ts")],
  generate: [
    build,
    command("node scripts/generate/sources.ts"),
    // The documents are generated from packages that are built from these sources.
    build,
    command("node scripts/generate/documents.ts"),
  ],
  types: [command("node scripts/test/main.ts types")],
  lint: [command("node scripts/test/main.ts checks")],
  format: [command("biome check --write"), command("prettier --write contracts/**/*.sol --log-level warn")],
};
