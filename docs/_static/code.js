/* Copy buttons on blocks of code, without prompts and outputs; outputs that wrap like text. */
(() => {
  /* A line with runs of spaces inside is a row of a table, which keeps its columns and scrolls. */
  const isSentence = (line) => line.length > 40 && !/\S {2,}\S/.test(line);

  /* A traceback is output: its lines, and its message, which is one line of several parts. */
  const joinMessages = (pre) => {
    pre.querySelectorAll(".gt").forEach((start) => {
      let next = start.nextSibling;
      while (next !== null && !(next.className ?? "").match(/^(gp|gr)$/)) {
        const after = next.nextSibling;
        const part = document.createElement("span");
        part.className = "go";
        next.replaceWith(part);
        part.append(next);
        next = after;
      }
    });
    pre.querySelectorAll(".gr").forEach((name) => {
      const line = document.createElement("span");
      line.className = "go";
      name.replaceWith(line);
      let next = line.nextSibling;
      line.append(name);
      while (next !== null && !next.textContent.includes("\n")) {
        const after = next.nextSibling;
        line.append(next);
        next = after;
      }
    });
  };

  const codeOf = (pre) => {
    const copy = pre.cloneNode(true);
    const prompted = copy.querySelector(".gp") !== null;
    copy.querySelectorAll(".gp, .go, .gt, .gr, .linenos").forEach((part) => part.remove());
    const lines = copy.textContent.split("\n").map((line) => line.trimEnd());
    return (prompted ? lines.filter((line) => line) : lines).join("\n").trim();
  };

  const wrapOutput = (pre) => {
    pre.querySelectorAll(".go").forEach((part) => {
      const lines = part.textContent.split("\n").filter((line) => line);
      if (lines.length > 0 && lines.every(isSentence)) part.classList.add("sentence");
    });
    if (pre.querySelector("span[class]") === null) {
      const lines = pre.textContent.replace(/\n$/, "").split("\n");
      pre.replaceChildren(
        ...lines.flatMap((line) => {
          const part = document.createElement("span");
          part.textContent = line;
          if (isSentence(line)) part.className = "sentence";
          return [part, "\n"];
        }),
      );
    }
  };

  const addButton = (block, pre) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy-code";
    button.title = "Copy without prompts and outputs";
    button.setAttribute("aria-label", button.title);
    button.innerHTML = '<i class="fa-regular fa-copy" aria-hidden="true"></i>';
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(codeOf(pre));
      button.classList.add("copied");
      button.innerHTML = '<i class="fa-solid fa-check" aria-hidden="true"></i>';
      setTimeout(() => {
        button.classList.remove("copied");
        button.innerHTML = '<i class="fa-regular fa-copy" aria-hidden="true"></i>';
      }, 1500);
    });
    block.append(button);
  };

  document.addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll("div.highlight").forEach((block) => {
      const pre = block.querySelector("pre");
      if (!pre) return;
      const isText = block.parentElement.matches(".highlight-text, .highlight-none");
      joinMessages(pre);
      wrapOutput(pre);
      if (!isText && codeOf(pre)) addButton(block, pre);
    });
  });
})();
