/* A mask as strokes of a brush, in pixels of its picture: {size, erase, points: [[x, y]]}. The server
 * wants a picture that is white where it may change something, black elsewhere. */
import { pngOf } from "./pictures.js";

function draw(context, { size, erase, points }) {
    context.globalCompositeOperation = erase ? "destination-out" : "source-over";
    context.beginPath();
    if (points.length === 1) { /* a line without length would not be drawn */
        context.arc(...points[0], size / 2, 0, 2 * Math.PI);
        context.fill();
        return;
    }
    context.lineWidth = size;
    context.lineCap = context.lineJoin = "round";
    context.moveTo(...points[0]);
    for (const point of points)
        context.lineTo(...point);
    context.stroke();
}

/* Draws the strokes in one colour on a cleared canvas. */
export function paint(canvas, strokes, colour) {
    const context = canvas.getContext("2d");
    context.globalCompositeOperation = "source-over";
    context.clearRect(0, 0, canvas.width, canvas.height);
    context.strokeStyle = context.fillStyle = colour;
    for (const stroke of strokes)
        draw(context, stroke);
    context.globalCompositeOperation = "source-over";
}

/* The file to send; null if nothing is marked. */
export async function maskFile(strokes, { width, height }) {
    if (!strokes.some((stroke) => !stroke.erase))
        return null;
    const canvas = document.createElement("canvas");
    Object.assign(canvas, { width, height });
    paint(canvas, strokes, "white");
    const context = canvas.getContext("2d");
    context.globalCompositeOperation = "destination-over";
    context.fillStyle = "black";
    context.fillRect(0, 0, width, height);
    return new File([await pngOf(canvas)], "mask.png", { type: "image/png" });
}
