// Asks the server, shows the answer as it arrives, and what it cost: `npm run ask -- "a question"`.
import { formatDecimalAmount } from "@sotto/protocol";
import { openPayer } from "./payer.ts";
import { folder, origin } from "./settings.ts";

const [question = "How private is this question?"] = process.argv.slice(2);

console.error(".. filling a wallet from the faucet");
const { wallet, openai, nextCharge } = await openPayer(origin, folder);
try {
  const [model] = (await openai.models.list()).data;
  if (model === undefined) throw new Error("the server offers no model");
  console.error(".. buying one token with a private payment");
  const stream = await openai.chat.completions.create({
    model: model.id,
    messages: [{ role: "user", content: question }],
    stream: true,
  });
  for await (const { choices } of stream) process.stdout.write(choices[0]?.delta.content ?? "");
  const { units, charge, change } = await nextCharge();
  console.log(`

input     ${units["input"] ?? 0n} tokens
output    ${units["output"] ?? 0n} tokens
charged   ${formatDecimalAmount(charge, 6)} USDC
change    ${formatDecimalAmount(change, 6)} USDC, in new tokens that nobody can link to this question`);
} finally {
  await wallet.close();
}
