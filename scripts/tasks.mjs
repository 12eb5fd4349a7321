// What each script of package.json does, as commands run one after the other in the root of the checkout.

const command = (line, variables = {}) => {
  const [name, ...args] = line.split(" ");
  return { command: name, args, variables };
};

/** Turbo builds only what changed; it shows the output of what it builds and one line for what it takes from its cache. */
const build = command("turbo run build contracts:build --output-logs=new-only --ui=stream --log-order=stream");

export const tasks = {
  demo: [build, command("node scripts/demo/main.ts")],
  test: [command("node scripts/test/main.ts")],
  "test:long": [command("node scripts/test/main.ts", { SOTTO_LONG: "1" })],
  "test:mutation": [build, command("node scripts/mutation/main.ts")],
  build: [build],
  bench: [build, command("node scripts/bench/main.ts")],
  chain: [command("node scripts/chain/start.ts")],
  "deploy:local": [build, command("node scripts/chain/deploy.ts")],
  "setup:dev": [command("node scripts/circuits/compile.ts"), command("node scripts/setup/dev.ts")],
  "circuits:build": [command("turbo run build --filter=@sotto/circuits --ui=stream --output-logs=new-only")],
  "contracts:build": [command("hardhat build --quiet")],
  generate: [build, command("node scripts/generate/all.ts")],
  types: [build, command("node scripts/checks/types.ts")],
  lint: [command("node scripts/test/main.ts --only checks")],
  format: [command("biome check --write ."), command("prettier --write contracts/**/*.sol --log-level warn")],
};
