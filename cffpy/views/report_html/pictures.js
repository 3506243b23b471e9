// SPDX-License-Identifier: MIT
// Pictures of textures and attachments: PNGs in the data, or the reason why there is none.
"use strict";

function pictureOf(picture, name) {
  const alt = `${picture.width} × ${picture.height} texels`;
  return h("img", { class: name, alt, src: `data:image/png;base64,${picture.png}` });
}

function pictureFigure(picture, title = "") {
  if (!picture.png) return h("p", { class: "note" }, `${title ? `${title}: ` : ""}no picture, ${picture.reason}`);
  const notes = [title, `${picture.width} × ${picture.height} texels`, ...picture.notes].filter(Boolean).join("; ");
  return h("figure", {}, pictureOf(picture, "picture"), h("figcaption", { class: "note" }, notes));
}

// Adds the pictures of a pass's attachments to its section, once.
async function showPassPictures(one) {
  const box = document.getElementById(`pass=${one.pass}`);
  const wanted = one.attachments.filter((target) => target.picture >= 0);
  if (!box || !wanted.length || box.querySelector(".pictures")) return;
  const pictures = h("section", { class: "pictures" }, h("h3", {}, "Attachments as captured"));
  box.append(pictures);
  const found = await part("pictures");
  const figures = wanted.map((target) => [target.name, found?.[target.picture]]).filter(([, picture]) => picture);
  if (!figures.length) pictures.remove();
  append(pictures, [
    h("p", { class: "note" }, "Memory from before the commands ran."),
    figures.map(([name, picture]) => pictureFigure(picture, name)),
  ]);
}
