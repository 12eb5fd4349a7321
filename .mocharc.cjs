// Mocha looks for this file in the folder it runs in and above it: it holds for every package. hardhat.config.ts reads it
// for the contracts.
const long = process.env.SOTTO_LONG === "1";

module.exports = {
  // The end of a test that hangs, in ms. A test that needs longer says why (packages/test-kit/src/slow.ts).
  timeout: long ? 3_600_000 : 30_000,
  failZero: true,
  forbidPending: true,
  // By hand, one test alone is fine.
  ...(process.env.SOTTO_TEST_EVENTS === undefined
    ? {}
    : { forbidOnly: true, reporter: require.resolve("./scripts/test/reporter.cjs") }),
};
