import { policyContract, trainerContract, type TrainerSubject } from "../testing/contract.ts";
import type { ProfileName } from "./profile.ts";
import { profiles } from "./profile.ts";
import { connect, startServer, stopToken, testPrompt } from "./testing/connect.ts";

/** A fresh server and client; the second client is of the same server, as after a restart of our process. */
async function subject(profile: ProfileName, reduction: "sum" | "datumMean" = "sum"): Promise<TrainerSubject> {
  const stack = new AsyncDisposableStack();
  const server = stack.use(await startServer({}, reduction));
  const open = async (): Promise<Awaited<ReturnType<typeof connect>>> => stack.use(await connect(server.baseUrl, { profile: profiles[profile] }));
  const { policy, trainer } = await open();
  return { policy, trainer, stopToken, learningRate: 0.5, prompt: testPrompt, another: open, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

policyContract("Tinker", () => subject("hosted"));
trainerContract("Tinker", () => subject("hosted"));
