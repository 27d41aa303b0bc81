// The page in a real browser: Debian's Chromium, driven by Playwright.

import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium, type Browser, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const executable = ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find(existsSync);
const template = process.env.TIMELINE_PAGE ?? "";
const sample = process.env.TIMELINE_SAMPLE ?? "";
let browser: Browser;
let folder: string;

function pageOf(which: string): string {
  const path = join(folder, `${which}.html`);
  if (!existsSync(path)) execFileSync(sample, ["page", which, path, template]);
  return `file://${path}`;
}

/** What the page asked for over the network, and what went wrong in it. */
interface Watched {
  page: Page;
  requests: string[];
  errors: string[];
}

async function open(which: string, theme: "light" | "dark" = "light", width = 1280): Promise<Watched> {
  const context = await browser.newContext({ viewport: { width, height: 800 }, colorScheme: theme, reducedMotion: "reduce" });
  const page = await context.newPage();
  const watched: Watched = { page, requests: [], errors: [] };
  page.on("request", (request) => watched.requests.push(request.url()));
  page.on("pageerror", (error) => watched.errors.push(error.message));
  page.on("console", (message) => message.type() === "error" && watched.errors.push(message.text()));
  await page.goto(pageOf(which));
  await page.locator("html[data-ready]").waitFor();
  await page.locator("#rows[data-begin]").waitFor();
  return watched;
}

/** The stretch of time on the screen, once it has been drawn. */
async function view(page: Page): Promise<{ begin: number; end: number; span: number }> {
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  const [begin, end] = await page.locator("#rows").evaluate((rows) => [Number(rows.dataset.begin), Number(rows.dataset.end)]);
  return { begin, end, span: end - begin };
}

/** The point of the screen where a row shows a time, in microseconds. */
async function pointAt(page: Page, row: string, time: number): Promise<{ x: number; y: number }> {
  const { begin, span } = await view(page);
  const label = await page.locator("#labels .row", { hasText: row }).last().boundingBox();
  const canvas = await page.locator("#canvas").boundingBox();
  if (!label || !canvas) throw new Error(`there is no row ${row}`);
  return { x: canvas.x + ((time * 1000 - begin) / span) * canvas.width, y: label.y + 14 };
}

async function colourAt(page: Page, row: string, time: number): Promise<string> {
  const at = await pointAt(page, row, time);
  return page.locator("#canvas").evaluate((canvas: HTMLCanvasElement, point) => {
    const box = canvas.getBoundingClientRect();
    const ratio = canvas.width / box.width;
    const data = canvas.getContext("2d")!.getImageData((point.x - box.left) * ratio, (point.y - box.top - 6) * ratio, 1, 1).data;
    return `#${[...data.slice(0, 3)].map((c) => c.toString(16).padStart(2, "0")).join("")}`;
  }, at);
}

const chosen = (page: Page): Promise<string | null> => page.locator("#chosen").textContent();

describe.skipIf(!executable)("the page", () => {
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "timeline-"));
    browser = await chromium.launch({
      executablePath: executable,
      args: ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update",
        "--disable-sync"],
    });
  });
  afterAll(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true });
  });

  test("opens without the network and shows every row", async () => {
    const { page, requests, errors } = await open("small");
    expect(await page.locator("#program").textContent()).toBe("three_way");
    expect(await page.locator("#summary").textContent()).toBe("410 µs modelled · 9 operations · h200");
    expect(await page.locator("#labels .group b").allTextContents()).toEqual(["Run", "Host", "Device 0"]);
    expect(await page.locator("#labels .row span").allTextContents()).toEqual(["Critical path", "Main thread", "Main thread", "Kernels",
      "Copy to device", "Copy to host", "Host functions", "Stream 1", "Stream 2", "download"]);
    expect(await page.locator("#legend").textContent()).toContain("copy to device");
    expect(requests.filter((url) => !url.startsWith("file:") && !url.startsWith("data:"))).toEqual([]);
    expect(errors).toEqual([]);
  });

  test.each([["light", "#ffffff", "#5b7cfa", "#17a398"], ["dark", "#14171e", "#7b97ff", "#2cc0b2"]] as const)(
    "draws kernels and copies in their colours, %s", async (theme, background, kernel, copy) => {
      const { page } = await open("small", theme);
      expect(await page.locator("html").getAttribute("data-theme")).toBe(theme);
      expect(await colourAt(page, "Stream 1", 150)).toBe(kernel);
      expect(await colourAt(page, "Stream 1", 50)).toBe(copy);
      expect(await colourAt(page, "Stream 1", 260)).toBe(background);
    });

  test("changes between light and dark by a button and by a key", async () => {
    const { page } = await open("small");
    await page.locator("#theme").click();
    expect(await page.locator("html").getAttribute("data-theme")).toBe("dark");
    await page.keyboard.press("t");
    expect(await page.locator("html").getAttribute("data-theme")).toBe("light");
  });

  test("zooms at the pointer, moves by dragging and by keys, and shows the whole run again", async () => {
    const { page } = await open("small");
    const whole = await view(page);
    const at = await pointAt(page, "Stream 1", 150);
    await page.mouse.move(at.x, at.y);
    await page.keyboard.down("Control");
    for (let i = 0; i < 3; i++) await page.mouse.wheel(0, -200);
    await page.keyboard.up("Control");
    const close = await view(page);
    expect(close.span).toBeLessThan(whole.span / 4);
    // The pointer stands on a whole pixel, which is now several.
    expect(Math.abs((await pointAt(page, "Stream 1", 150)).x - at.x)).toBeLessThan(10);
    await page.mouse.down();
    await page.mouse.move(at.x - 200, at.y, { steps: 3 });
    await page.mouse.up();
    const moved = await view(page);
    expect(moved.begin).toBeGreaterThan(close.begin);
    expect(Math.abs(moved.span - close.span)).toBeLessThan(10);
    await page.keyboard.press("a");
    expect((await view(page)).begin).toBeLessThan(moved.begin);
    await page.keyboard.press("w");
    expect((await view(page)).span).toBeLessThan(moved.span);
    await page.keyboard.press("0");
    expect(await view(page)).toEqual(whole);
  });

  test("shows an operation and its edges under the pointer", async () => {
    const { page } = await open("small");
    const at = await pointAt(page, "Stream 2", 270);
    await page.mouse.move(at.x, at.y);
    const tip = page.locator("#tip");
    await tip.waitFor();
    expect(await tip.locator("h3").textContent()).toBe("scale");
    expect(await tip.textContent()).toContain("kernel · Stream 2");
    expect(await tip.locator(".tip-waits li").allTextContents()).toEqual([
      "scale filled the device, until 217.00 µs", "copy to device, 4 MiB came before it in its stream, until 175.00 µs"]);
    expect(await tip.textContent()).toContain("1 operation waited for it");
    expect(await tip.textContent()).toMatch(/(reads|writes)device memory \d+, somewhere in/);
  });

  test("follows edges from a click: what it waited for, and what waited for it", async () => {
    const { page } = await open("small");
    const at = await pointAt(page, "Stream 2", 270);
    await page.mouse.click(at.x, at.y);
    expect(await chosen(page)).toBe("scale");
    expect(await page.locator("#waited-for .who").allTextContents()).toEqual(["scale Stream 1", "copy to device, 4 MiB Stream 2"]);
    expect(await page.locator("#waited-by .who").allTextContents()).toEqual(["event record Stream 2"]);
    // The arrow leaves the end of the kernel before it.
    const arrow = await page.locator("#canvas").evaluate((canvas: HTMLCanvasElement) => {
      const data = canvas.getContext("2d")!.getImageData(0, 0, canvas.width, canvas.height).data;
      let found = 0;
      for (let i = 0; i < data.length; i += 4) {
        if (Math.abs(data[i] - 0xc2) < 24 && Math.abs(data[i + 1] - 0x41) < 24 && Math.abs(data[i + 2] - 0x0c) < 24) found++;
      }
      return found;
    });
    expect(arrow).toBeGreaterThan(60);
    await page.locator("#waited-by .wait").first().click();
    expect(await chosen(page)).toBe("event record");
    await page.locator("#waited-by .wait").first().click();
    expect(await chosen(page)).toBe("event wait");
    await page.keyboard.press(",");
    await page.keyboard.press(",");
    expect(await chosen(page)).toBe("scale");
    await page.keyboard.press(",");
    expect(await page.locator("#details dd").allTextContents()).toContain("Stream 1");
    await page.keyboard.press("Escape");
    expect(await page.locator("#chosen").count()).toBe(0);
  });

  test("finds operations, goes from one to the next, and dims the others", async () => {
    const { page } = await open("small");
    const over = await pointAt(page, "Stream 1", 150);
    await page.mouse.move(over.x, over.y);
    expect(await page.locator("#tip").isVisible()).toBe(true);
    await page.keyboard.press("/");
    await page.keyboard.type("scale");
    expect(await page.locator("#tip").isVisible()).toBe(false);
    expect(await page.locator("#matches").textContent()).toBe("2 matches");
    expect(await colourAt(page, "Stream 1", 150)).toBe("#5b7cfa");
    expect(await colourAt(page, "Stream 1", 50)).not.toBe("#17a398");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Enter");
    expect(await page.locator("#matches").textContent()).toBe("2 of 2");
    expect(await chosen(page)).toBe("scale");
    await page.locator("#search").fill("nowhere");
    expect(await page.locator("#matches").textContent()).toBe("no match");
    // Cleared: nothing is counted or dimmed any more, and nothing is chosen by Enter.
    await page.locator("#search").fill("scale");
    await page.keyboard.press("Enter");
    await page.locator("#search").fill("");
    expect(await page.locator("#matches").textContent()).toBe("");
    expect(await page.locator("#next").isDisabled()).toBe(true);
    expect(await colourAt(page, "Stream 1", 50)).toBe("#17a398");
    await page.keyboard.press("Enter");
    expect(await page.locator("#matches").textContent()).toBe("");
    await page.mouse.move(over.x + 1, over.y);
    expect(await page.locator("#tip").isVisible()).toBe(true);
    await page.keyboard.press("Escape");
    expect(await page.locator("#tip").isVisible()).toBe(false);
  });

  test("shows the critical path alone, and what bounded the run", async () => {
    const { page } = await open("small");
    expect(await page.locator("#bound .share").first().textContent()).toBe("68 %");
    await page.locator("#path").click();
    expect(await page.locator("#path").getAttribute("aria-pressed")).toBe("true");
    expect(await colourAt(page, "Stream 1", 50)).toBe("#17a398");
    expect(await colourAt(page, "Stream 2", 130)).not.toBe("#17a398");
    const at = await pointAt(page, "Critical path", 270);
    await page.mouse.click(at.x, at.y);
    expect(await page.locator("#details .kind").textContent()).toContain("critical path");
    await page.locator("#details .wait").first().click();
    expect(await page.locator("#waited-by").count()).toBe(1);
  });

  test("lists the findings and goes to their place", async () => {
    const { page } = await open("small");
    expect(await page.locator(".finding strong").allTextContents()).toEqual(["Kernels fill the device", "Copy from pageable memory"]);
    expect(await page.locator(".finding .cost").first().textContent()).toBe("42.0 µs");
    expect(await page.locator(".finding code").first().textContent()).toBe("three_way.cu:32");
    await page.locator(".finding").nth(1).click();
    const { begin, end } = await view(page);
    expect(begin).toBeGreaterThan(375_000);
    expect(begin).toBeLessThan(384_000);
    expect(end).toBeGreaterThan(392_000);
    expect(end).toBeLessThan(400_000);
    expect(await page.locator(".finding.chosen .evidence span").allTextContents()).toEqual(["8.00 us for 64 KiB"]);
    await page.locator(".finding").nth(1).click();
    expect(await page.locator(".finding.chosen").count()).toBe(0);
  });

  test.each([320, 360, 430, 700, 901, 1280])("cuts nothing off on a screen of %d pixels", async (width) => {
    for (const which of ["small", "hung"]) {
      const { page } = await open(which, "light", width);
      const at = await pointAt(page, "Stream 1", 60);
      await page.mouse.click(at.x, at.y);
      await page.locator("#search").fill("scale");
      const outside = await page.evaluate(() => [...document.querySelectorAll("body *")]
        .filter((element) => element.getBoundingClientRect().right > innerWidth + 0.5)
        .map((element) => `${element.tagName}#${element.id}.${element.className}`));
      expect(outside).toEqual([]);
      expect(await page.locator("#summary").evaluate((text) => text.scrollWidth - text.clientWidth)).toBe(0);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
      await page.context().close();
    }
  });

  test("folds and unfolds a group", async () => {
    const { page } = await open("small");
    await page.locator("#labels .group", { hasText: "Device 0" }).click();
    expect(await page.locator("#labels .row").count()).toBe(3);
    await page.locator("#labels .group", { hasText: "Device 0" }).click();
    expect(await page.locator("#labels .row").count()).toBe(10);
  });

  test("shows a run that hung: what waits and what did not end", async () => {
    const { page, errors } = await open("hung");
    expect(await page.locator("#summary").textContent()).toContain("it hung");
    const at = await pointAt(page, "Stream 1", 60);
    await page.mouse.click(at.x, at.y);
    expect(await page.locator("#details").textContent()).toContain("did not end");
    expect(errors).toEqual([]);
  });

  test("draws 200,000 operations pixel by pixel, not bar by bar", async () => {
    const { page, errors } = await open("200000");
    expect(await page.locator("#summary").textContent()).toContain("200,000 operations");
    const at = await pointAt(page, "Stream 9", 100_000);
    await page.mouse.move(at.x, at.y);
    await page.keyboard.down("Control");
    for (let i = 0; i < 40; i++) await page.mouse.wheel(0, -240);
    await page.keyboard.up("Control");
    expect((await view(page)).span).toBeLessThan(1000);
    await page.keyboard.press("0");
    await page.locator("#search").fill("layer3");
    expect(await page.locator("#matches").textContent()).toBe("13,333 matches");
    await page.keyboard.press("Enter");
    expect(await chosen(page)).toBe("layer3");
    expect(await page.locator("#waited-for .wait").count()).toBe(1);
    expect(errors).toEqual([]);
  });
});

if (!executable) console.log("skipped: chromium is not installed; scripts/setup.sh test installs it");
