/* Sound as speech models want it: one channel, 16,000 samples a second. */

export const RATE = 16000;
const HEAD = 44, BYTES = 2;

/* A WAV file of samples from -1 to 1, 16 bits each. Pure. */
export function wavOf(samples, rate = RATE) {
    const data = new DataView(new ArrayBuffer(HEAD + samples.length * BYTES));
    const text = (at, s) => [...s].forEach((c, i) => data.setUint8(at + i, c.charCodeAt(0)));
    text(0, "RIFF");
    data.setUint32(4, HEAD - 8 + samples.length * BYTES, true);
    text(8, "WAVEfmt ");
    data.setUint32(16, 16, true); /* bytes of this chunk */
    data.setUint16(20, 1, true); /* PCM */
    data.setUint16(22, 1, true); /* channels */
    data.setUint32(24, rate, true);
    data.setUint32(28, rate * BYTES, true);
    data.setUint16(32, BYTES, true);
    data.setUint16(34, 8 * BYTES, true);
    text(36, "data");
    data.setUint32(40, samples.length * BYTES, true);
    for (let i = 0; i < samples.length; i++) {
        const s = Math.max(-1, Math.min(1, samples[i]));
        data.setInt16(HEAD + i * BYTES, Math.round(s * 32767), true);
    }
    return data.buffer;
}

/* The mean of several channels. Pure. */
export function mixed(channels) {
    if (channels.length === 1)
        return channels[0];
    const out = new Float32Array(channels[0].length);
    for (const channel of channels)
        for (let i = 0; i < out.length; i++)
            out[i] += channel[i] / channels.length;
    return out;
}

/* The samples of a sound that the browser can play. Rejects if it cannot. */
export async function samplesOf(blob) {
    const context = new OfflineAudioContext(1, 1, RATE);
    const sound = await context.decodeAudioData(await blob.arrayBuffer()); /* at the context's rate */
    return mixed(Array.from({ length: sound.numberOfChannels }, (_, i) => sound.getChannelData(i)));
}

export const wavFile = (samples, name) => new File([wavOf(samples)], name, { type: "audio/wav" });

/* Formats that the server reads by itself: apis.md, "Audio and images". */
const READABLE = /\.(wav|mp3|flac|ogg|oga|opus|webm|m4a|aac)$/i;

/* The file itself, or what it sounds like as WAV if the server cannot read its format. */
export async function readableSound(file) {
    if (READABLE.test(file.name))
        return file;
    return wavFile(await samplesOf(file), file.name.replace(/\.\w+$|$/, ".wav"));
}
