import { ACCEPT, type Judge } from "./judge.ts";

/**
 * Accepts a deposit only after a time. The other judges are asked once more before it is accepted, so the delay is the time that is
 * left to refuse it: a later refusal finds the money only if it was not spent.
 * @param seconds after the block of the deposit
 */
export const delayJudge = (seconds: number, clock: () => number): Judge => ({
  name: "delay",
  parameters: { seconds },
  async judge({ timestamp }) {
    const again = (timestamp + seconds) * 1000;
    return clock() >= again ? ACCEPT : { verdict: "wait", again };
  },
});
