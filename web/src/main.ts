import "./style.css";
import { App } from "./app";
import { byId, make } from "./dom";
import { readTrace } from "./model";

try {
  const source = byId("trace");
  const app = new App(readTrace(source.textContent ?? ""));
  source.remove(); // the text is as large as the trace
  app.start();
} catch (error) {
  document.body.replaceChildren(
    make("p", { class: "broken" }, `This timeline cannot be shown: ${error instanceof Error ? error.message : error}`));
  throw error;
}
